// A front of supervise.long.test.ts. It reports that it serves, and runs until its supervisor stops it or exits.
process.send({ kind: 'serving', version: '0.0.0' })
process.on('disconnect', () => process.exit(0))
