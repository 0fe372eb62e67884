"""SHA-256 (FIPS 180-4) of many lines of a block, by the processor's own instructions where it has them.

x86 processors with the SHA extensions do four rounds in three instructions; elsewhere hashlib has to do it, line by
line.
The state is kept as those instructions want it, two vectors of four numbers: f e b a and h g d c, low lane first.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from replay.jit import COMPILED, inner, jit
from replay.memory import load8, load32, store8, store64

BLOCK = 64
K = (
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5, 0xD807AA98,
    0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174, 0xE49B69C1, 0xEFBE4786,
    0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA, 0x983E5152, 0xA831C66D, 0xB00327C8,
    0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967, 0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13,
    0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85, 0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819,
    0xD6990624, 0xF40E3585, 0x106AA070, 0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A,
    0x5B9CCA4F, 0x682E6FF3, 0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7,
    0xC67178F2,
)  # fmt: skip
# The state to begin with, f e b a h g d c, two numbers a word; and where a to h stand in it.
START = np.array(
    [0x9B05688C, 0x510E527F, 0xBB67AE85, 0x6A09E667, 0x5BE0CD19, 0x1F83D9AB, 0xA54FF53A, 0x3C6EF372], np.uint32
).view(np.int64)
LETTERS = np.array([3, 2, 7, 6, 1, 0, 5, 4])
# To make hex digits of eight half bytes, one a byte: 6 each, 1 each, "0" each, and what a letter is above "0" + 10.
SIX, ONES, ZEROS = (np.uint64(byte * 0x0101010101010101) for byte in (6, 1, 0x30))
TO_LETTERS = np.uint64(ord("a") - ord("0") - 10)


def has_instructions() -> bool:
    """Whether this processor has the instructions, and compiled code may use them."""
    if not COMPILED:
        return False
    features = cpu_target.target_context.codegen().magic_tuple()[2].split(",")
    return "+sha" in features and "+avx" in features


def _compress(lanes: int) -> Any:
    """An intrinsic function that takes blocks at `lanes` addresses into as many states, which stand end to end.

    The processor can begin with the next instruction of one lane while that of another is under way: two lanes take
    hardly longer than one.
    """

    def compress(typing: Any, states: Any, *blocks: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            four = ir.VectorType(ir.IntType(32), 4)

            def call(name: str, *values: Any) -> Any:
                kind = ir.FunctionType(four, [four] * len(values))
                function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
                return builder.call(function, values)

            def part(one: Any, two: Any, *which: int) -> Any:
                return builder.shuffle_vector(one, two, ir.Constant(four, which))

            def at(address: Any, offset: int) -> Any:
                place = builder.add(address, ir.Constant(ir.IntType(64), offset))
                return builder.inttoptr(place, four.as_pointer())

            def load(address: Any, offset: int) -> Any:
                value = builder.load(at(address, offset))
                value.align = 1
                return value

            # Upper halves of registers left in use by others slow these instructions down a hundred times.
            clear = "llvm.x86.avx.vzeroupper"
            empty = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.globals.get(clear) or ir.Function(builder.module, empty, clear), [])
            before = [(load(arguments[0], 32 * lane), load(arguments[0], 32 * lane + 16)) for lane in range(lanes)]
            now = list(before)
            words = [
                [call("llvm.bswap.v4i32", load(data, 16 * place)) for place in range(4)] for data in arguments[1:]
            ]
            for turn in range(16):
                for lane in range(lanes):
                    mine = words[lane]
                    if turn >= 4:
                        w0, w1, w2, w3 = mine[-4:]
                        sum_ = builder.add(call("llvm.x86.sha256msg1", w0, w1), part(w2, w3, 1, 2, 3, 4))
                        mine.append(call("llvm.x86.sha256msg2", sum_, w3))
                    message = builder.add(mine[turn], ir.Constant(four, list(K[4 * turn : 4 * turn + 4])))
                    one, two = now[lane]
                    two = call("llvm.x86.sha256rnds2", two, one, message)
                    now[lane] = call("llvm.x86.sha256rnds2", one, two, part(message, message, 2, 3, 0, 0)), two
            for lane in range(lanes):
                for half in range(2):
                    sum_ = builder.add(now[lane][half], before[lane][half])
                    builder.store(sum_, at(arguments[0], 32 * lane + 16 * half)).align = 1
            return context.get_dummy_value()

        return types.void(*[types.int64] * (lanes + 1)), code

    return compress


@intrinsic
def compress(typing: Any, state: Any, block: Any) -> Any:
    """Take the block at an address into the state at another."""
    return _compress(1)(typing, state, block)


@intrinsic
def compress_two(typing: Any, states: Any, one: Any, two: Any) -> Any:
    """Take two blocks into two states, the second of which stands behind the first."""
    return _compress(2)(typing, states, one, two)


@inner
def last_blocks(rest, at, left, bits):
    """Lay out what stands behind the whole blocks of a line: its last bytes, the mark, its length; how many blocks."""
    size = BLOCK if left < BLOCK - 8 else 2 * BLOCK
    for word in range(size // 8):
        store64(rest + 8 * word, 0)
    for place in range(left):
        store8(rest + place, load8(at + place))
    store8(rest + left, 0x80)
    for place in range(8):
        store8(rest + size - 1 - place, bits >> 8 * place & 255)
    return size // BLOCK


@inner
def put_digest(state, text):
    """Write the 64 hex digits of a state to an address; returns the first 64 bits, low byte first."""
    first = np.uint64(0)
    for letter in range(8):
        number = np.uint64(load32(state + 4 * LETTERS[letter]))
        if letter < 2:
            for byte in range(4):
                first |= (number >> np.uint64(24 - 8 * byte) & np.uint64(255)) << np.uint64(32 * letter + 8 * byte)
        # Eight digits at once: each half byte in a byte of its own, the highest lowest.
        spread = np.uint64(0)
        for digit in range(8):
            spread |= (number >> np.uint64(28 - 4 * digit) & np.uint64(15)) << np.uint64(8 * digit)
        letters = (spread + SIX) >> np.uint64(4) & ONES  # bytes that are above 9
        store64(text + 8 * letter, np.int64(spread + ZEROS + letters * TO_LETTERS))
    return first


@jit
def fill_hashes(base, starts, stops, states, rest, firsts, texts):
    """Hashes of [start, stop) of the bytes at `base`: the first 64 bits, low byte first, and all as 64 hex digits.

    states, rest: addresses of 64 and 256 bytes to work in; firsts: uint64; texts: the address of 64 bytes a line.
    Lines are hashed two and two; the last of an odd number is hashed twice.
    """
    count = len(starts)
    for row in range(0, count, 2):
        other = min(row + 1, count - 1)
        for word in range(4):
            store64(states + 8 * word, START[word])
            store64(states + 32 + 8 * word, START[word])
        one, two = base + starts[row], base + starts[other]
        size_one, size_two = stops[row] - starts[row], stops[other] - starts[other]
        blocks_one, blocks_two = size_one // BLOCK, size_two // BLOCK
        both = min(blocks_one, blocks_two)
        for block in range(both):
            compress_two(states, one + BLOCK * block, two + BLOCK * block)
        for block in range(both, blocks_one):
            compress(states, one + BLOCK * block)
        for block in range(both, blocks_two):
            compress(states + 32, two + BLOCK * block)
        more_one = last_blocks(rest, one + BLOCK * blocks_one, size_one - BLOCK * blocks_one, 8 * size_one)
        more_two = last_blocks(rest + 128, two + BLOCK * blocks_two, size_two - BLOCK * blocks_two, 8 * size_two)
        compress_two(states, rest, rest + 128)
        if more_one > 1:
            compress(states, rest + BLOCK)
        if more_two > 1:
            compress(states + 32, rest + 128 + BLOCK)
        firsts[row] = put_digest(states, texts + 64 * row)
        firsts[other] = put_digest(states + 32, texts + 64 * other)


def hashes(data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """SHA-256 of [start, stop) of bytes: (first 64 bits, uint64, low byte first; all as hex digits, uint8[n, 64])."""
    firsts, texts = np.empty(len(starts), np.uint64), np.empty((len(starts), 64), np.uint8)
    work = np.empty(64 + 256, np.uint8)
    fill_hashes(data.ctypes.data, starts, stops, work.ctypes.data, work.ctypes.data + 64, firsts, texts.ctypes.data)
    return firsts, texts
