"""What the vendor's parser refuses: a file of which it takes nothing, so that its tools run without any vote.

Measured on QAIRT 2.51 with thousands of files (``tests/vendor/test_extension_files.py``).
"""
