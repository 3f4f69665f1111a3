"""What the vendor's parser refuses: then it uses nothing of the file, and the vendor's tools run without any vote.

Measured on QAIRT 2.51 with thousands of files (``tests/vendor/test_extension_files.py``).
"""
