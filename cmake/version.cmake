# SPDX-License-Identifier: BSD-3-Clause
# Script: writes RESULT from TEMPLATE with the commit of SOURCE; leaves the file alone where nothing changed.
find_program(GIT git)
set(COMMIT "")
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
configure_file(${TEMPLATE} ${RESULT} @ONLY)
