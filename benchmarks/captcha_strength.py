"""How often OCR that anyone can install reads our captcha, what an image costs, and a sheet to look at.

    python benchmarks/captcha_strength.py --count 500 --difficulty normal --sheet sheet.png

Needs the dependency group `captcha-strength`; an adversary that is not installed is left out and named.
"""

import argparse
import io
import json
import math
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import cv2
import numpy as np
from captcha_cleanings import CLEANINGS, RAW
from captcha_readings import as_read, mapped
from PIL import Image

from gatehouse.auth.login.captcha import ALPHABET, LENGTH, Difficulty
from gatehouse.auth.login.captcha.appearance import HEIGHT, WIDTH
from gatehouse.auth.login.captcha.image import CaptchaRenderer

Adversary = Callable[[bytes], str]
Rate = dict[str, Any]

_EACH = 25  # images by one renderer: it keeps its bends and stripes, so that one may be luckier than another
_TURN = 10  # images by one before the other has its turn: neither runs on caches the other has just emptied


def main() -> None:
    options = _options()
    difficulty = Difficulty(options.difficulty)
    renderer = CaptchaRenderer(difficulty)
    report: dict[str, Any] = {"difficulty": options.difficulty, "count": options.count}
    report["cost"] = cost(renderer, options.timed)
    if options.sheet:
        sheet(renderer, options.sheet, options.zoom)
    if options.memory:
        report["memory"] = memory(renderer, options.memory)
    if options.count:
        report["rates"] = strength(difficulty, options.count, adversaries(options.only))
    print(json.dumps(report, indent=1) if options.json else _table(report))


def cost(renderer: CaptchaRenderer, count: int) -> dict[str, Any]:
    """Time and size of an image, ours and the `captcha` library's by turns: both meet the same machine."""
    rivals: dict[str, Callable[[str], bytes]] = {"gatehouse": renderer.render}
    if find_spec("captcha"):
        from captcha.image import ImageCaptcha  # noqa: PLC0415 -- optional

        library = ImageCaptcha()
        rivals["captcha library"] = lambda answer: library.generate(answer).getvalue()
    taken: dict[str, list[float]] = {name: [] for name in rivals}
    sizes: dict[str, list[int]] = {name: [] for name in rivals}
    for _ in range(-(-count // _TURN)):
        for name, draw in rivals.items():
            for answer in _answers(_TURN):
                # The time of this thread alone: what an image costs, not what else the machine is doing.
                begun = time.thread_time_ns()
                png = draw(answer)
                taken[name].append((time.thread_time_ns() - begun) / 1e6)
                sizes[name].append(len(png))
    return {
        name: {
            "median_ms": round(median(taken[name]), 3),
            "p99_ms": round(float(np.percentile(taken[name], 99)), 3),
            "median_bytes": int(median(sizes[name])),
            "largest_bytes": max(sizes[name]),
        }
        for name in rivals
    }


def memory(renderer: CaptchaRenderer, count: int) -> dict[str, int]:
    """Resident memory after a tenth of the images and after all of them."""
    sizes = {}
    for done, answer in enumerate(_answers(count), start=1):
        renderer.render(answer)
        if done in {count // 10, count}:
            sizes[f"kb_after_{done}"] = _resident()
    return sizes


def strength(difficulty: Difficulty, count: int, found: dict[str, Adversary]) -> list[Rate]:
    """Solve rate of every adversary after every cleaning, as read and mapped onto our letters."""
    answers = _answers(count)
    renderers = [CaptchaRenderer(difficulty) for _ in range(-(-count // _EACH))]
    drawn = [renderers[at // _EACH].render(answer) for at, answer in enumerate(answers)]
    greys = [cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE) for png in drawn]
    rates: list[Rate] = []
    for cleaning, clean in CLEANINGS.items():
        images = [cv2.imencode(".png", clean(grey.astype(np.uint8)))[1].tobytes() for grey in greys]
        for adversary, read in found.items():
            readings = [(read(image), answer) for image, answer in zip(images, answers, strict=True)]
            for name, same in ((adversary, as_read), (f"{adversary}, mapped", mapped)):
                solved = sum(same(reading, answer) for reading, answer in readings)
                rates.append(_rate(name, cleaning, solved, count))
                print(f"{name}, {cleaning}: {solved}/{count}", file=sys.stderr)
    return rates


def _rate(adversary: str, cleaning: str, solved: int, count: int) -> Rate:
    low, high = wilson(solved, count)
    return {"adversary": adversary, "cleaning": cleaning, "rate": solved / count, "low": low, "high": high}


def adversaries(only: str = "") -> dict[str, Adversary]:
    """Those that are installed on this machine, or of them those whose name begins as asked."""
    found: dict[str, Adversary] = {}
    if find_spec("ddddocr"):
        import ddddocr  # noqa: PLC0415 -- optional

        for name, beta in (("ddddocr", False), ("ddddocr beta", True)):
            found[name] = ddddocr.DdddOcr(show_ad=False, beta=beta).classification
    if shutil.which("tesseract"):
        found["tesseract"] = _tesseract
    for name in ("ddddocr", "tesseract"):
        if name not in found:
            print(f"{name} is not installed: left out", file=sys.stderr)
    return {name: read for name, read in found.items() if name.startswith(only)}


def _tesseract(image: bytes) -> str:
    command = ["tesseract", "-", "-", "--psm", "7", "-c", f"tessedit_char_whitelist={ALPHABET}"]
    return subprocess.run(command, input=image, capture_output=True, check=False).stdout.decode()


def wilson(solved: int, count: int) -> tuple[float, float]:
    """The 95 % confidence interval of a share; unlike the textbook one it is right for small shares too."""
    z = 1.96
    share = solved / count
    middle = share + z * z / (2 * count)
    reach = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


def sheet(renderer: CaptchaRenderer, path: Path, zoom: float, count: int = 40, across: int = 5) -> None:
    """Fresh images in rows of five, as a screen shows them, and in a text file beside the sheet their answers."""
    answers = _answers(count)
    width, height, gap = round(WIDTH * zoom), round(HEIGHT * zoom), 12
    shown = (Image.open(io.BytesIO(renderer.render(answer))).convert("L") for answer in answers)
    images = [image.resize((width, height), Image.Resampling.BILINEAR) for image in shown]
    plane = Image.new("L", (across * (width + gap) + gap, -(-count // across) * (height + gap) + gap), 255)
    for at, image in enumerate(images):
        plane.paste(image, (gap + at % across * (width + gap), gap + at // across * (height + gap)))
    plane.save(path, optimize=True)
    rows = (" ".join(answers[at : at + across]) for at in range(0, count, across))
    path.with_suffix(".txt").write_text("\n".join(rows) + "\n")


def _answers(count: int) -> list[str]:
    return ["".join(secrets.choice(ALPHABET) for _ in range(LENGTH)) for _ in range(count)]


def _resident() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def _table(report: dict[str, Any]) -> str:
    lines = [f"difficulty {report['difficulty']}", ""]
    lines += ["| image of | median ms | 99 % ms | median bytes | largest |", "|---|---|---|---|---|"]
    for name, row in report["cost"].items():
        lines.append(f"| {name} | " + " | ".join(map(str, row.values())) + " |")
    if "memory" in report:
        lines += ["", *(f"{name}: {size}" for name, size in report["memory"].items())]
    rates: list[Rate] = report.get("rates", [])
    if rates:
        names = list(dict.fromkeys(rate["adversary"] for rate in rates))
        lines += ["", f"Solved, of {report['count']}, with 95 % intervals:", ""]
        lines += ["| cleaning | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
        for cleaning in CLEANINGS:
            cells = [_cell(rate) for rate in rates if rate["cleaning"] == cleaning]
            lines.append(f"| {cleaning} | " + " | ".join(cells) + " |")
        for name in names:
            own = [rate for rate in rates if rate["adversary"] == name]
            best = max(own, key=lambda rate: float(rate["rate"]))
            raw = next(rate for rate in own if rate["cleaning"] == RAW)
            lines += ["", f"{name}: raw {_cell(raw)}, best {_cell(best)} after {best['cleaning']}"]
    return "\n".join(lines)


def _cell(rate: Rate) -> str:
    return f"{rate['rate']:.1%} ({rate['low']:.1%}-{rate['high']:.1%})"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=500, help="images to attack; 0 to measure the cost only")
    parser.add_argument("--difficulty", choices=[*Difficulty], default=Difficulty.NORMAL)
    parser.add_argument("--only", default="", help="adversaries whose name begins so, e.g. tesseract")
    parser.add_argument("--timed", type=int, default=300, help="images to time")
    parser.add_argument("--memory", type=int, default=0, help="images to watch memory over, e.g. 100000")
    parser.add_argument("--sheet", type=Path, help="write 40 fresh images here, and their answers beside it")
    parser.add_argument("--zoom", type=float, default=2, help="screen pixels to a CSS pixel on the sheet")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
