"""A complete ONNX text model of a few kilobytes, made on the spot: one vector a word, nothing learnt, everything foretold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

WORDS = ("[PAD]", "[UNK]", "query:", "passage:", "the", "invoice", "was", "paid", "dog", "likes", "beach", "发", "票", "付", "了")
SIZE = 8


def table() -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """The vectors of `WORDS`: shape (words, SIZE)."""
    return np.random.default_rng(5).normal(size=(len(WORDS), SIZE)).astype(np.float32)


def write(folder: Path, *, without: str = "") -> Path:
    """Write the model into `folder` as a repository would hold it, one file left out when named. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "length"])
    out = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", SIZE])
    gather = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph([gather], "words", [ids, mask], [out], [numpy_helper.from_array(table(), "table")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(folder / "model.onnx"))

    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 32, "pad_token": "[PAD]"}))
    if without:
        (folder / without).unlink()
    return folder
