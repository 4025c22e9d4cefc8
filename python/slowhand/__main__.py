"""Lets ``python -m slowhand`` run the command line."""

from slowhand.cli import main

if __name__ == "__main__":
    main()
