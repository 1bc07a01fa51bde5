"""The pages, by subject: each view fetches the rows of one page and renders its template."""
