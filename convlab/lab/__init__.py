"""What ``convlab lab`` needs: the learner's working copy, writable folders, and JupyterLab itself."""
