"""Build a tiny model of Chandra-OCR-2's architecture with random weights, without any download.

Runs in the environment of ``requirements.txt``, not in Moonpress's own:
``python build_tiny_vlm.py FOLDER``. What it writes is noise that depends on the picture.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
# Before torchvision is imported; see there.
sys.path.insert(0, str(Path(__file__).resolve().parent / "shims"))
import sitecustomize  # noqa: F401

HIDDEN, LAYERS, VOCABULARY, CONTEXT = 128, 4, 512, 32_768
GAIN = 1.5
SPECIALS = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
    "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
]  # fmt: skip
TEXT = (
    '<div data-bbox="120 80 880 960" data-label="Text"><p>A page about rivers and bridges.</p>'
    "</div>\n<table><tr><td>7</td><td>9</td></tr></table> <math>a^2 + b^2 = c^2</math>"
    " <h2>Section-Header</h2>\nEvery block of the layout is a div with a label and a box.\n"
)
WORDS = "alpha beta gamma delta total page table figure item sum date name value order line note"
PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEMPLATE = """\
{%- for message in messages -%}
{{ '<|im_start|>' + message['role'] + '\\n' }}
{%- if message['content'] is string -%}{{ message['content'] }}{%- else -%}
{%- for item in message['content'] -%}
{%- if item['type'] in ('image', 'image_url') or 'image' in item -%}
{{ '<|vision_start|><|image_pad|><|vision_end|>' }}
{%- elif 'text' in item -%}{{ item['text'] }}{%- endif -%}
{%- endfor -%}{%- endif -%}
{{ '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}
"""


def write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")


def build_tokenizer(folder: Path) -> dict[str, int]:
    """Train a byte-level tokeniser on a few lines; returns the ids of the special tokens."""
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        trainers,
    )

    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIALS),
        min_frequency=2,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator([TEXT] * 4, trainer)
    room = VOCABULARY - len(SPECIALS) - tokenizer.get_vocab_size()
    fill = [f" {word}{number}" for number in range(1, 20) for word in WORDS.split()]
    tokenizer.add_tokens([AddedToken(word, normalized=False) for word in fill[: max(room, 0)]])
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIALS]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "Qwen2Tokenizer",
            "bos_token": None,
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "unk_token": None,
            "add_prefix_space": False,
            "add_bos_token": False,
            "clean_up_tokenization_spaces": False,
            "model_max_length": CONTEXT,
            "additional_special_tokens": SPECIALS[1:],
            "chat_template": TEMPLATE,
        },
    )
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    return {token: tokenizer.token_to_id(token) for token in SPECIALS}


def configuration(ids: dict[str, int]) -> Any:
    """The real architecture, with few and narrow layers."""
    from transformers import Qwen3_5Config

    text = {
        "vocab_size": VOCABULARY,
        "hidden_size": HIDDEN,
        "intermediate_size": 2 * HIDDEN,
        "num_hidden_layers": LAYERS,
        "max_position_embeddings": CONTEXT,
        "bos_token_id": None,
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "tie_word_embeddings": False,
        "rms_norm_eps": 1e-6,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 64,
        "linear_value_head_dim": 64,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "layer_types": [
            "full_attention" if index % 4 == 3 else "linear_attention" for index in range(LAYERS)
        ],
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 1e7,
            "partial_rotary_factor": 0.25,
            "mrope_interleaved": True,
            "mrope_section": [3, 3, 2],
        },
    }
    vision = {
        "depth": 2,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 2,
        "in_channels": 3,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "out_hidden_size": HIDDEN,
        "num_position_embeddings": 2304,
    }
    return Qwen3_5Config(
        text_config=text,
        vision_config=vision,
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=False,
    )


def build_weights(folder: Path, ids: dict[str, int]) -> None:
    """Random weights, livelier than usual: greedy output then varies and depends on the picture."""
    import torch
    from transformers import Qwen3_5ForConditionalGeneration

    torch.manual_seed(0)
    config = configuration(ids)
    config.architectures = ["Qwen3_5ForConditionalGeneration"]
    config.dtype = torch.bfloat16
    model = Qwen3_5ForConditionalGeneration(config).to(torch.bfloat16).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("A_log"):
                # Slow decay: the state of linear attention still remembers the picture.
                weight.fill_(-6.0)
            elif weight.ndim >= 2:
                strong = any(part in name for part in ("q_proj", "k_proj", "visual"))
                gain = GAIN * (4 if strong else 1)
                weight.normal_(0, gain / weight[0].numel() ** 0.5)
        model.get_input_embeddings().weight.normal_(0, 1.0)
        model.lm_head.weight.normal_(0, 4.0 / HIDDEN**0.5)
    model.save_pretrained(folder)


def build_processor(folder: Path, ids: dict[str, int]) -> None:
    ends = [ids["<|im_end|>"], ids["<|endoftext|>"]]
    write_json(
        folder / "generation_config.json",
        {"pad_token_id": ids["<|endoftext|>"], "eos_token_id": ends, "do_sample": False},
    )
    shared = {
        "patch_size": 16,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "processor_class": "Qwen3VLProcessor",
    }
    pictures = {"size": {"longest_edge": 16_777_216, "shortest_edge": 65_536}}
    videos = {"size": {"longest_edge": 25_165_824, "shortest_edge": 4_096}}
    kind = "Qwen2VLImageProcessorFast"
    write_json(
        folder / "preprocessor_config.json", {**pictures, **shared, "image_processor_type": kind}
    )
    kind = "Qwen3VLVideoProcessor"
    write_json(
        folder / "video_preprocessor_config.json",
        {**videos, **shared, "video_processor_type": kind},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    ids = build_tokenizer(folder)
    build_processor(folder, ids)
    build_weights(folder, ids)


if __name__ == "__main__":
    main()
