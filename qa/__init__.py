"""Ask questions of your own tables and get answers you can trust."""
