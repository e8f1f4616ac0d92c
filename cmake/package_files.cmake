# Run by CPack on the folders that become packages: what Debian wants compressed is compressed, and
# every time is that of the source (SOURCE_DATE_EPOCH), so that the same source gives the same bytes.

set(epoch "$ENV{SOURCE_DATE_EPOCH}")
if(NOT epoch)
  string(TIMESTAMP epoch "%s" UTC)
endif()

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(group program development)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${group})
  if(NOT EXISTS ${root})
    continue()
  endif()
  file(GLOB_RECURSE pages ${root}/usr/share/man/*.1)
  set(changes ${root}/usr/share/doc/diarist/CHANGELOG.md)
  if(EXISTS ${changes})
    file(RENAME ${changes} ${root}/usr/share/doc/diarist/changelog)
    list(APPEND pages ${root}/usr/share/doc/diarist/changelog)
  endif()

  string(REPLACE "program" "diarist" package ${group})
  string(REPLACE "development" "libdiarist-dev" package ${package})
  execute_process(COMMAND date --utc --rfc-email --date=@${epoch}
                  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(debian_changes ${root}/usr/share/doc/${package}/changelog.Debian)
  file(WRITE ${debian_changes}
       "diarist (${CPACK_PACKAGE_VERSION}-1) unstable; urgency=medium\n\n"
       "  * Version ${CPACK_PACKAGE_VERSION}; see changelog.gz of the package diarist.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  list(APPEND pages ${debian_changes})
  run(gzip -9nf ${pages})
  run(chmod -R u=rwX,go=rX ${root})
  run(find ${root} -exec touch --no-dereference --date=@${epoch} {} +)
endforeach()
