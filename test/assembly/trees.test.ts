import { treesAgree } from './trees-compared.js'

treesAgree({ stride: 5, rows: 300, people: 30 })
