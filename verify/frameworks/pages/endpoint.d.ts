/** Address of the service, which `openAddress()` puts into each page. */
declare var ENDPOINT: string
