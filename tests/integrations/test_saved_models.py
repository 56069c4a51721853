"""A model that a converted program saves is one for any process: no gate of ours is in its file."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SAVE = """
import keras
import numpy as np

def scaled(factor):
    return lambda x: abs(x) * factor if factor > 1 else x

def halved(x):
    if x.shape[-1] > 2:
        return x / 2
    return x

model = keras.Sequential([
    keras.layers.Input((4,)),
    keras.layers.Lambda(lambda x: x * x if x.shape[-1] else x),
    keras.layers.Lambda(scaled(3.0), output_shape=(4,)),
    keras.layers.Dense(4, kernel_initializer="ones"),
    keras.layers.Lambda(halved, output_shape=(4,)),
])
model.save("model.keras")
print(model(np.ones((1, 4), np.float32)).numpy().tolist())
"""
LOAD = """
import keras
import numpy as np

def halved(x):
    return x / 2

model = keras.models.load_model("model.keras", safe_mode=False, custom_objects={"halved": halved})
print(model(np.ones((1, 4), np.float32)).numpy().tolist())
"""


def run(command, folder):
    keep = {name: value for name, value in os.environ.items() if "AUTOIMPORT" not in name}
    environment = {**keep, "PYTHONPATH": str(ROOT), "AUTOIMPORT_CACHE_DIR": str(folder / ".cache")}
    environment |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "AUTOIMPORT_STRICT": "1"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_model_with_functions_in_it_loads_where_we_are_not(tmp_path):
    (tmp_path / "save.py").write_text(SAVE)
    (tmp_path / "load.py").write_text(LOAD)
    saved = run(["-m", "autoimport", "save.py"], tmp_path)
    assert saved != ""
    assert run(["load.py"], tmp_path) == saved
