"""The texts of explain and of the page of rules, for rules, codes and corners: why, an example of a breach, the mend.

Each module is imported only when needed. A command that explains a field needs none of them.
"""
