/* In the executable, the package that finds DuckDB's binding for the platform. */
module.exports = require("./libraries.ts").loadBinding();
