import { treesAgree } from './trees-compared.js'

treesAgree({ stride: 1, rows: 3000, people: 200 })
