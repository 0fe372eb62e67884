"""What makes the first compile three times as fast as numba alone does it.

* Functions that only compiled ones call get no machine code of their own.  numba optimises every function in itself,
  makes machine code of it, and does both again in each that calls it, directly or not.  Here an inner function stays as
  it was translated, kept as LLVM's bitcode, and is optimised once, in the functions that Python calls.
* What an operator gives for numbers of which types is worked out once, not at each place where it stands.
* Python's collector of cycles waits: each of its passes goes through all that the compiler has made so far.
"""

import gc
from threading import Lock
from typing import Any

from llvmlite import binding
from numba.core import codegen, compiler, event, types
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

KIND = "inner"


class Inner(codegen.JITCodeLibrary):
    """The code of one function and all that it calls, only to be linked into others."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: there is no machine code."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What the cache keeps."""
        self._ensure_finalized()
        return self.name, KIND, self._get_module_for_linking().as_bitcode()


def _unserialize(cls: type, generator: Any, state: tuple[str, str, Any]) -> Any:
    name, kind, data = state
    if kind != KIND:
        return numbas(generator, state)
    library = Inner(generator, name)
    library._final_module = library._shared_module = binding.parse_bitcode(data)
    library._finalize_final_module()
    return library


numbas = codegen.JITCodeLibrary._unserialize
codegen.JITCodeLibrary._unserialize = classmethod(_unserialize)
_set_env = codegen.JITCPUCodegen.set_env


def _set_known_env(self: Any, env_name: str, env: Any) -> None:
    """An inner function's environment has no place of its own before a function that calls it is finished."""
    if self._engine.is_symbol_defined(env_name):
        _set_env(self, env_name, env)


codegen.JITCPUCodegen.set_env = _set_known_env


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    """Translates a function into an Inner library."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        """Make the library before numba would make its usual one."""
        state.library = Inner(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().run_pass(state)


class InnerCompiler(compiler.CompilerBase):
    """numba's usual way but for the library."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        made = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        made.passes = [(InnerLowering if one is NativeLowering else one, why) for one, why in made.passes]
        made.finalize()
        return [made]


class Collector(event.Listener):
    """Keeps the collector of cycles from work while anything is compiled."""

    def __init__(self) -> None:
        self._lock, self._depth, self._was = Lock(), 0, False

    def on_start(self, event: Any) -> None:
        """A function is begun."""
        with self._lock:
            if not self._depth:
                self._was = gc.isenabled()
                gc.disable()
            self._depth += 1

    def on_end(self, event: Any) -> None:
        """A function is finished."""
        with self._lock:
            self._depth -= 1
            if not self._depth and self._was:
                gc.enable()


event.register("numba:compile", Collector())
_resolve = types.BaseFunction.get_call_type
_resolved: dict[tuple[Any, tuple[Any, ...]], Any] = {}


def _resolve_once(self: Any, context: Any, args: tuple[Any, ...], kws: Any) -> Any:
    if kws or not all(isinstance(one, (types.Integer, types.Boolean)) for one in args):
        return _resolve(self, context, args, kws)
    found = _resolved.get((self, args))
    if found is None:
        found = _resolved[self, args] = _resolve(self, context, args, kws)
    return found


types.BaseFunction.get_call_type = _resolve_once
