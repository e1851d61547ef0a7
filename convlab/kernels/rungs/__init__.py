"""The records of the ladder, a file for each family: limits, launch plans and claims."""
