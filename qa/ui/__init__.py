"""The page: everything that draws, and nothing that decides what is true."""
