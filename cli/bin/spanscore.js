#!/usr/bin/env node
// npm links a program only if its file is there when it installs, and in a clone `dist` is built after that.
void import('../dist/main.js')
