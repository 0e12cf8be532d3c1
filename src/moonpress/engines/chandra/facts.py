"""What is known of Chandra models, wherever they run.

Owns numbers and names that come from how the models were trained and published (model card of
Chandra-OCR-2). Never asks a model anything.
"""

from __future__ import annotations

from moonpress.engines.layout_model import Sampling

# A letter page becomes 1,632 x 2,112 pixels, which are multiples of 32 as they are.
PREFERRED_DPI = 192.0
# Greedy first; then warmer, as far as the model was published with; then another scale as well.
TRIES = (
    Sampling(temperature=0.0),
    Sampling(temperature=0.4, top_p=0.95),
    Sampling(temperature=0.8, top_p=0.95),
    Sampling(temperature=0.4, top_p=0.95, zoom=0.8),
)
# Both end a turn; a model's own configuration may name one of them only.
STOP = ("<|im_end|>", "<|endoftext|>")
# The cap that the model was published with.
MOST_OUTPUT = 12_384
# With less room than this a reply is not worth asking for.
LEAST_OUTPUT = 64
# What the coordinates of boxes count up to, by version of the model.
SCALES = {1: 1024.0, 2: 1000.0}
