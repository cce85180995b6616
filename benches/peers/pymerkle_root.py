"""A root by pymerkle: prints the root and the milliseconds. Argument: how many leaves."""

import hashlib
import sys
import time

from pymerkle import InmemoryTree

contents = [hashlib.sha256(number.to_bytes(8, "big")).digest() for number in range(int(sys.argv[1]))]
begun = time.perf_counter()
tree = InmemoryTree(algorithm="sha256")
for content in contents:
    tree.append_entry(content)
root = tree.get_root()
print(root.hex(), (time.perf_counter() - begun) * 1e3)
