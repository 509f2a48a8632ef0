"""The composer and the workbench: write a request, preview and send it."""
