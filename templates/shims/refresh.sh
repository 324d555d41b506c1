memhooks_program=$(command -v mem 2>/dev/null) || memhooks_program=@PROGRAM@
if [ -x "$memhooks_program" ]; then
@RUN@
fi
unset memhooks_program
