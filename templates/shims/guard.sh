memhooks_program=$(command -v mem 2>/dev/null) || memhooks_program=@PROGRAM@
if [ ! -x "$memhooks_program" ]; then
  echo "memhooks: the guard did not run: mem is neither on PATH nor at" @PROGRAM@ >&2
  echo "memhooks: install it again, or take the guard out: delete the lines between the memhooks marks in $0" >&2
  exit 1
fi
@RUN@
unset memhooks_program
