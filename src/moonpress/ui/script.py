"""What Streamlit runs for every person, from the top after every click.

Owns the order of the pages. Keeps nothing: papers and engines are at the desk.
"""

from moonpress.ui.pages import show

show()
