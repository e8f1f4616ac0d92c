# Writes a C++ file that holds text files as string literals, one constant per file.
# cmake -DOUT=file.cpp -DFOLDER=dir -DFILES=a.css,b.js -P embed_text.cmake
string(REPLACE "," ";" FILES "${FILES}")
set(text "// Made by cmake/embed_text.cmake out of the page's own files.\n")
string(APPEND text "#include \"output/report/page_sources.hpp\"\n\n")
string(APPEND text "namespace diarist::output {\n\n")
foreach(name ${FILES})
  file(READ "${FOLDER}/${name}" content)
  string(MAKE_C_IDENTIFIER "${name}" identifier)
  string(APPEND text "const char* const ${identifier} = R\"~page~(${content})~page~\";\n\n")
endforeach()
string(APPEND text "}  // namespace diarist::output\n")
file(WRITE "${OUT}" "${text}")
