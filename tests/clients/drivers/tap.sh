#!/bin/sh
# tap.sh DIRECTORY SERVER...: the server, and for each connection what was said on it: <pid>.in, <pid>.out.
directory=$1
shift
tee "$directory/$$.in" | "$@" | tee "$directory/$$.out"
