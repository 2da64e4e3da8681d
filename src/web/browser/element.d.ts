/** The module `element.js`, which the service serves in the same folder. */
export * from '@keystride/recorder/element'
