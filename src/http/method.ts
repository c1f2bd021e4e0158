/** Methods that endpoints take; HEAD is answered as GET. */
export type Method = "GET" | "POST" | "DELETE";
