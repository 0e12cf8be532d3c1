"""The prompt that Chandra models were trained with.

Owns finding it. Never holds its text: the models know one wording, which their makers publish as a
package, and every other instruction is ignored or makes them worse.
"""

from __future__ import annotations

from moonpress.errors import EngineUnavailable


def layout_prompt(extra: str) -> str:
    """The prompt for a whole page.

    Args:
        extra: Of Moonpress, with which the package that holds the prompt is installed.

    Raises:
        EngineUnavailable: the package is not installed.
    """
    try:
        from chandra.prompts import OCR_LAYOUT_PROMPT
    except ImportError as error:
        message = "the package chandra-ocr, which holds the model's prompt, is not installed"
        raise EngineUnavailable(message, hint=f"Run pip install 'moonpress[{extra}]'") from error
    return str(OCR_LAYOUT_PROMPT)
