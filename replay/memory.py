"""Bytes by their address, for compiled functions: without the count of references that an array costs at every call.

Nothing is checked: whoever takes an address sees to it that the memory is there, and stays.  Numbers stand low byte
first, at any address.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from replay.jit import COMPILED, inner


def _load(kind: types.Integer, result: types.Integer) -> Callable[[Any, Any], Any]:
    def load(typing: Any, at: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], context.get_value_type(kind).as_pointer())
            value = builder.load(pointer)
            value.align = 1
            return value if kind == result else builder.zext(value, context.get_value_type(result))

        return result(types.int64), code

    return load


def _store(kind: types.Integer) -> Callable[[Any, Any, Any], Any]:
    def store(typing: Any, at: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            wanted = context.get_value_type(kind)
            pointer = builder.inttoptr(arguments[0], wanted.as_pointer())
            value = arguments[1] if kind == types.int64 else builder.trunc(arguments[1], wanted)
            builder.store(value, pointer).align = 1
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), code

    return store


if COMPILED:
    load8 = intrinsic(_load(types.uint8, types.int64))
    load16 = intrinsic(_load(types.uint16, types.int64))
    load32 = intrinsic(_load(types.uint32, types.int64))
    load64 = intrinsic(_load(types.int64, types.int64))
    unsigned64 = intrinsic(_load(types.uint64, types.uint64))
    store8 = intrinsic(_store(types.uint8))
    store32 = intrinsic(_store(types.uint32))
    store64 = intrinsic(_store(types.int64))
else:

    def load8(at: int) -> int:
        """The byte at an address."""
        return ctypes.c_uint8.from_address(int(at)).value

    def load16(at: int) -> int:
        """The number in two bytes at an address."""
        return ctypes.c_uint16.from_address(int(at)).value

    def load32(at: int) -> int:
        """The number in four bytes at an address."""
        return ctypes.c_uint32.from_address(int(at)).value

    def load64(at: int) -> int:
        """The signed number in eight bytes at an address."""
        return ctypes.c_int64.from_address(int(at)).value

    def unsigned64(at: int) -> np.uint64:
        """The number without sign in eight bytes at an address."""
        return np.uint64(ctypes.c_uint64.from_address(int(at)).value)

    def store8(at: int, value: int) -> None:
        """Put a number into the byte at an address."""
        ctypes.c_uint8.from_address(int(at)).value = int(value)

    def store32(at: int, value: int) -> None:
        """Put a number into four bytes at an address."""
        ctypes.c_uint32.from_address(int(at)).value = int(value)

    def store64(at: int, value: int) -> None:
        """Put a signed number into eight bytes at an address."""
        ctypes.c_int64.from_address(int(at)).value = int(value)


@inner
def same(one, two, size):
    """Whether two texts of a size hold the same bytes."""
    while size >= 8:
        if load64(one) != load64(two):
            return False
        one, two, size = one + 8, two + 8, size - 8
    for place in range(size):
        if load8(one + place) != load8(two + place):
            return False
    return True
