"""Numbers for inline SVG and shaded tables: the templates draw what these modules measure."""
