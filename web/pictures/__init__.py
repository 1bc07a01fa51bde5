"""Pictures of pages for other sites, which show them beside a link: PNG, 1200 by 630 pixels.

`web/templates/web/pictures` has them as SVG. The modules here measure and fill in, and `drawing`
turns SVG into PNG.
"""
