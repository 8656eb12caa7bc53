"""From a question to a plan: what may leave, what a model says, what can be planned without one."""
