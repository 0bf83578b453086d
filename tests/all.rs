//! Every test that needs more than one room, in one binary, so that it is linked once.
#![expect(unreachable_pub, reason = "what the files of the suite share is public to each other only")]

mod suite {
    mod architecture;
    mod bad_input;
    mod cases;
    mod cli;
    mod docs;
    mod fuzz;
    mod gates;
    mod mcp;
    mod parallel;
    mod regex_parity;
    mod store;
    mod wire;
}
