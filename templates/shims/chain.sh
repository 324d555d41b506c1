if [ -x @BESIDE@ ]; then
  exec @BESIDE@ "$@"
fi
