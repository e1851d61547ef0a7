"""What wrong answers stand for in lesson 06: several outputs a thread."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    "pixels loaded again for the second filter": (
        "Each pixel is loaded once for each filter, so a thread with two filters saves nothing.",
        "Both filters want the same pixel at the same tap. How many loops over the taps does that take?",
    ),
    "second filter's bound missing": (
        "The last pair is taken for two filters, though with an odd number one of them does not exist.",
        "With K = 5, which two filters has the last block? Which of them is there?",
    ),
    "last filter of an odd number left out": (
        "The last filter is never computed where the number of filters is odd.",
        "A pair without its second filter still has a first one.",
    ),
    "both outputs from the first filter": (
        "Both outputs are computed with the weights of the first filter.",
        "Which part of the weight's index tells one filter from the next?",
    ),
    "second filter begins one weight further": (
        "The second filter is read one weight behind the first, and not one filter behind it.",
        "How many weights has a filter in all?",
    ),
    "second filter begins one channel further": (
        "The second filter is read one channel behind the first, and not one filter behind it.",
        "A filter has C channels of R·S weights. Where does the next filter begin?",
    ),
    "pairs of filters overlap": (
        "Each block begins one filter after the one before, so the pairs overlap and the last filters have nobody.",
        "Which filter does block 1 begin with, if block 0 has the filters 0 and 1?",
    ),
    "second output stored one pixel further": (
        "The second output is stored one pixel behind the first.",
        "Both outputs have the same p and q. Which index of y tells them apart?",
    ),
    "one sum for two filters": (
        "The products of both filters are added to one sum.",
        "Two outputs need two sums. Where does each of them live?",
    ),
    "second output stored over the first": (
        "Both outputs are stored at the first one's place.",
        "Which index of y differs between the two?",
    ),
    "weight loaded for each pixel": (
        "The weight is loaded anew for each of the four pixels.",
        "The compiler keeps a load that stands inside of a condition. What could you do before the loop over pixels?",
    ),
    "one pixel a thread": (
        "Each thread computes one pixel, so most pixels have no thread.",
        "The grid has a thread for each group of four pixels. Which four are this thread's?",
    ),
    "groups of a row counted by P": (
        "The groups of a row are counted by P, which is the number of rows.",
        "How many pixels has a row of the output? Count its groups from that.",
    ),
    "groups taken for pixels": (
        "The group's number is divided by Q, as if a row had Q groups.",
        "With Q = 8, how many groups has a row?",
    ),
    "groups of the plane rounded down": (
        "Threads leave from group P·Q / 4 on, though rows whose last group is shorter have more groups.",
        "With P = 2 and Q = 5, how many groups has the plane?",
    ),
    "four outputs stored at one place": (
        "All four outputs are stored at the first one's place.",
        "Where in memory does output q + t lie, if q is the first?",
    ),
    "pixels behind the row's end computed": (
        "All four pixels are computed, also where the row ends before.",
        "With Q = 5, how many pixels has the second group of a row?",
    ),
    "pixels behind the row's end read": (
        "Pixels are read for outputs that lie behind the end of the row, and at last behind the end of x.",
        "The stores are tested. What do the loads of the same outputs do?",
    ),
    "pixels behind the row's end stored": (
        "Outputs behind the end of a row are stored: they land on the next row.",
        "With Q = 5, where in memory does output q = 6 of row 0 lie?",
    ),
    "groups run across the ends of rows": (
        "The groups of four are counted through the whole plane, so that some begin in one row and end in the next.",
        "Each row begins with a new group. How many groups has a row of Q pixels?",
    ),
    "groups overlap": (
        "The groups of neighbouring threads begin one pixel apart, and overlap.",
        "Thread 0 has the pixels 0 to 3. Where does thread 1 begin?",
    ),
    "last group of a row left out": (
        "The number of groups of a row is rounded down, so that a shorter last group has no thread.",
        "With Q = 5 a row needs two groups. What does Q / 4 give?",
    ),
    "all four pixels from one window": (
        "All four outputs look at the window of the first.",
        "By how many columns does the window move from one output to the next?",
    ),
    "one sum for all pixels": (
        "The products of all four pixels are added to one sum.",
        "Four outputs need four sums.",
    ),
}
