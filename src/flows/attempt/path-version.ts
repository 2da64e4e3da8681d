/**
 * Version of the code that makes the costs of a bootstrap, a verify or an enrollment, on the front and in the stores. Raise it with a
 * change after which one of them costs a tenth more or less. The costs in `model/capacity-costs.json` name the version that they were
 * measured on, and must then be measured again.
 */
export const PATH_VERSION = 2
