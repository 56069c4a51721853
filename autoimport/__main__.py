"""`python -m autoimport` -> the command."""

from autoimport.cli import main

if __name__ == "__main__":
    main()
