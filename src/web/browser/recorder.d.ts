/** What the service serves beside these modules as `recorder.js`. */
export * from 'keystride/recorder'
