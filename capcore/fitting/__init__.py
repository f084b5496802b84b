"""The optimum at which capacity is allocated: one table of methods, from Gauss–Newton to basin hopping."""
