"""A process that draws one picture: SVG comes in as input, PNG goes out as output.

`web.pictures.drawing` starts it, as a file and without the site's packages: it begins faster so.
Its arguments are the folder of resvg, the font, its family, and "own" if no other font is needed.
"""

import os
import sys


def main() -> None:
    """Draw the picture, after everything else that the machine has to do."""
    folder, font, family, fonts = sys.argv[1:]
    os.nice(5)
    sys.path.append(folder)
    import resvg_py

    png = resvg_py.svg_to_bytes(
        svg_string=sys.stdin.read(),
        skip_system_fonts=fonts == "own",
        font_files=[font],
        font_family=family,
    )
    sys.stdout.buffer.write(bytes(png))


if __name__ == "__main__":
    main()
