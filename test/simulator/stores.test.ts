import { comparesStores } from './stores-compared.js'

comparesStores(4)
