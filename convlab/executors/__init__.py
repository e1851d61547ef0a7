"""Compiling CUDA C and running it: on a GPU through CuPy, or on the emulator."""
