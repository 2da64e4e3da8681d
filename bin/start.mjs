#!/usr/bin/env node
// `npm start`: installs, builds and starts the service.
import './node-version.mjs'

// Not a static import: an old Node would fail to load it before the line above runs.
void import('./serve.mjs')
