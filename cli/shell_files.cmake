# Manual pages and completions: the program writes them itself, so they can't tell anything else.
# Installed with it.

include(GNUInstallDirs)
install(TARGETS diarist_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

if(CMAKE_CROSSCOMPILING)
  message(STATUS "Cross-compiling: no manual pages and completions, the program can't run here")
  return()
endif()

set(pages ${CMAKE_CURRENT_BINARY_DIR}/man1)
set(shells ${CMAKE_CURRENT_BINARY_DIR}/completions)
add_custom_command(
  OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/shell_files.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages} ${shells}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages} ${shells}
  COMMAND diarist_cli man --out ${pages}
  COMMAND diarist_cli completions bash > ${shells}/diarist
  COMMAND diarist_cli completions zsh > ${shells}/_diarist
  COMMAND diarist_cli completions fish > ${shells}/diarist.fish
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_CURRENT_BINARY_DIR}/shell_files.stamp
  DEPENDS diarist_cli
  COMMENT "Writing manual pages and completions"
  VERBATIM)
add_custom_target(diarist_shell_files ALL DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/shell_files.stamp)

install(DIRECTORY ${pages}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${shells}/diarist DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        COMPONENT program)
install(FILES ${shells}/_diarist DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
        COMPONENT program)
install(FILES ${shells}/diarist.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
