"""What explain and the page of the rules tell of rules, codes and corners: why, an example that breaks it, the mend.

Only modules that are asked for are imported: a command that explains a field needs none of it.
"""
