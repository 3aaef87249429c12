"""The solutions of the exercises, with gaps marked: a learner starts from what is left."""
