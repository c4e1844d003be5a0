"""`python -m chmcnn`: the command line."""

from chmcnn.cli import main

if __name__ == "__main__":
    main()
