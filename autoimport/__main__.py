"""`python -m autoimport` -> the command."""

import sys

# Python has put the current directory there for `-m`. What we need ourselves is not to be found in it.
folder = sys.path.pop(0)
try:
    from autoimport.cli import prepare
    from autoimport.runner import supervise
finally:
    sys.path.insert(0, folder)

if __name__ == "__main__":
    supervise(prepare())  # not one call: see `runner` on what is below the program
