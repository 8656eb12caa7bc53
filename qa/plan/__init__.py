"""The plan language: formulas, functions, steps, and the checker that types them."""
