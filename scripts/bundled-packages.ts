/** Packages that are parts of the library's own files, so that it installs nothing but its peer. */
export const BUNDLED = ['@bufbuild/protobuf', 're2js']
